"""Is the account ready for an environment? What AWS showed, as plain values, against what the file asks for.

One module for each thing that is looked at. Nothing here asks AWS: whoever did hands over what was seen, and gets
findings with a stable code, the place in the environment file that they are about, and a fix. What is not deployed yet
is never an error.
"""
