"""Should a workload move to Neuron, in which order, and what has to be asked first.

The matrix and the checklist are those of "AWS Trainium2 and Inferentia2: Purpose-Built AI Chips for Enterprise ML Cost
Reduction" (FactualMinds); phases, operator and shape questions also of "AWS Trainium and Inferentia" and of chapter
12.3, "Training Silicon: Trn1 (Trainium) Architecture". Savings that they promise are quoted as theirs: none of them can
be worked out again (docs/source-figures.md).
"""
