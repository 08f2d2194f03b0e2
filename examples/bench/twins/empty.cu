// Does nothing.
KERNEL empty() {}
