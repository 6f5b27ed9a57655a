package pki

import "crypto/x509"

// The types of crypto/x509 that callers hold, who do not import that package.
type (
	Cert               = x509.Certificate
	CertificateRequest = x509.CertificateRequest
	List               = x509.RevocationList
	ListEntry          = x509.RevocationListEntry
)
