/**
 * A public key of P-256 that a group can begin with: its private half was dropped as it was made, and signs nothing.
 */
export const firstLinkKey = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEh3hxbsZ87kvNF1fhTUUU4wYwMT9F
2k+1a5p4w6d/smXutT6sc2Q7hWj5SU0at7iRBx6pw/wu/zN5eirAGXYxuA==
-----END PUBLIC KEY-----
`;
