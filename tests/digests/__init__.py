"""What a checkout does, as digests: whether a change of the code is one of behaviour, too."""
