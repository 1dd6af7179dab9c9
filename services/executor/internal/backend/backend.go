// Package backend is what a back end tells about its device: the words that every kind of device shares.
package backend

// Facts describe a device. What a device does not tell stays zero.
type Facts struct {
	// Daemon is the daemon's name: GoBGP, FRR, BIRD, Ze.
	Daemon string `json:"daemon,omitzero"`
	// Version is the daemon's version.
	Version string `json:"version,omitzero"`
	// RouterID is the BGP identifier, as a dotted quad.
	RouterID string `json:"router-id,omitzero"`
	// LocalAS is the autonomous system of the speaker.
	LocalAS uint32 `json:"local-as,omitzero"`
	// Families are the address families in use, sorted, such as ipv4-unicast.
	Families []string `json:"families,omitzero"`
}
