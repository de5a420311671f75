"""Fine-tuning outside the page: what to do, kept on disk; the line of those who wait; the process that works it off."""
