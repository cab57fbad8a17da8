// SPDX-License-Identifier: MIT OR GPL-2.0-only

// Work that is known: three of four steps are main.hot's, one is main.cold's.
package main

import "fmt"

//go:noinline
func hot(steps uint64) (sum uint64) {
	for n := uint64(0); n < steps; n++ {
		sum += sum>>3 ^ n*3
	}
	return
}

//go:noinline
func cold(steps uint64) (sum uint64) {
	for n := uint64(0); n < steps; n++ {
		sum += sum>>3 ^ n*5
	}
	return
}

func main() {
	var sum uint64
	for n := 0; n < 2000; n++ {
		sum += hot(300000) + cold(100000)
	}
	fmt.Println(sum != 0)
}
