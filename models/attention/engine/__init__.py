"""The numbers of the definition without computing what no head can see."""
