"""What a card says of a variant: it is compared with the baseline on every part of a battery."""
