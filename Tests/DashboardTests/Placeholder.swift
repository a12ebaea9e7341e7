// Comes with the first file.
