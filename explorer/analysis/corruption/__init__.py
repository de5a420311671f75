"""What pre-training objectives do to a text before a model reads it: pure functions of token ids and a seed."""
