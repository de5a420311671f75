"""How to draw a result: a frozen result in, a plotly figure or an HTML string out."""
