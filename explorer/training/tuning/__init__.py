"""Fine-tuning: labelled examples -> task -> method -> steps -> a tuned model that every tab can load."""
