// Command edge runs the service edge.
package main

import (
	"github.com/zegate/zegate/pkg/lifecycle"
	"github.com/zegate/zegate/services/edge"
)

func main() { lifecycle.Main(edge.Program()) }
