const id = 'pQ3vX0aJt7m2bWcYhR5sKd8uEfGzLiNo';

/** A credential that a browser has made, and one with which it signs in, as bodies for the API descriptions. */
export const passkeyExamples = {
  registered: {
    response: {
      id,
      rawId: id,
      type: 'public-key',
      response: { clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0', attestationObject: 'o2NmbXRkbm9uZQ' },
    },
    name: 'Phone',
  },
  authenticated: {
    response: {
      id,
      rawId: id,
      type: 'public-key',
      response: {
        clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0',
        authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ',
        signature: 'MEUCIQDTGVxhrKL0jYvVqO0y',
        userHandle: 'Z0PwwqkbXQASqzTN',
      },
    },
  },
} as const;
