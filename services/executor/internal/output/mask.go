package output

import "regexp"

// Masked stands in place of a secret.
const Masked = "******"

// What follows these words in the configuration languages of routers is a secret. A small number between the word and the
// secret is the type of its encryption. An SNMP community is a secret; a BGP community is not.
const (
	secretWords = `pass(?:word|wd|phrase)|secret|key-string|(?:pre-?shared|authentication|private|shared|api)-key|token|` +
		`snmp-server[ \t]+community|message-digest-key[ \t]+\d+[ \t]+md5|key[ \t]+[057]`
	secretSeparator = `(?:["']?[ \t]*[:=][ \t]*|[ \t]+)`
	secretValue     = `"[^"\n]*"?|'[^'\n]*'?|[^\s;,}"']+`
)

// Words follow each other ("password secret x"): the last one's value is the secret.
var secrets = regexp.MustCompile(`(?i)((?:\b(?:` + secretWords + `)` + secretSeparator + `(?:\d{1,2}[ \t]+)?)+)(?:` + secretValue + `)`)

// Mask replaces secrets in configuration output. Masking twice is masking once.
func Mask(text []byte) []byte {
	return secrets.ReplaceAll(text, []byte("${1}"+Masked))
}
