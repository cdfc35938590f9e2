/** A P-256 public key for a new key group. Its private half was discarded, so it verifies nothing. */
export const firstLinkKey = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEh3hxbsZ87kvNF1fhTUUU4wYwMT9F
2k+1a5p4w6d/smXutT6sc2Q7hWj5SU0at7iRBx6pw/wu/zN5eirAGXYxuA==
-----END PUBLIC KEY-----
`;
