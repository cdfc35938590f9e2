/** The texts of *View as*, loaded with its pages. */
export const viewAs = {
  title: 'View as',
  secret: 'Your server (secret key)',
  publishable: 'Signed out (publishable key)',
  user: 'A user…',
  viewing: 'Viewing as',
  signedOut: 'a signed-out visitor',
  stop: 'Stop',
  tryWrite: 'Try a write',
  refused: 'A signed-out visitor can see nothing here. The page Access shows why.',
  none: 'This caller can see no documents here. The page Access shows why.',
  why: 'You see the documents and fields that an app would get. You cannot change anything here.',
  sendAs: 'Send with',
  ways: { publishable: 'Publishable key', user: 'Publishable key and a user', secret: 'Secret key' },
} as const;
