"""What is asked: a folder for each paper, and one for questions of our own. Nothing elsewhere names them."""
