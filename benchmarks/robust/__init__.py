"""What breaks Poise: measured from outside, by scripts that share no code with what they measure."""
