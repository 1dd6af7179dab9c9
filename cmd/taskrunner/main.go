// Command taskrunner runs the service taskrunner.
package main

import (
	"github.com/zegate/zegate/pkg/lifecycle"
	"github.com/zegate/zegate/services/taskrunner"
)

func main() { lifecycle.Main(taskrunner.Program()) }
