"""AWS's APIs as they look on the wire: which operation a request asks for, and how an error is answered."""
