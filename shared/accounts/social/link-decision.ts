/** What a social sign-in finds: what the provider says, and what the project knows. */
export interface LinkQuestion {
  /** The provider vouches for at least one address. */
  readonly addressVerified: boolean;
  /** The very account at the provider has signed in before. */
  readonly identityKnown: boolean;
  /** The user who has one of the vouched-for addresses, and whether they have proved that it is theirs. */
  readonly account: 'none' | 'verified' | 'unverified';
}

/** What a social sign-in does with the account; `discard and link` removes its credentials first. */
export type LinkStep = 'refuse' | 'sign in' | 'link' | 'discard and link' | 'create';

/**
 * What a social sign-in comes to (contract 3, "Social"). Somebody else may have opened an account with an address that
 * is not theirs and wait for its owner, so an account that never proved its address loses its password and sessions
 * first.
 */
export const decideLink = ({ addressVerified, identityKnown, account }: LinkQuestion): LinkStep => {
  if (!addressVerified) return 'refuse';
  if (identityKnown) return 'sign in';
  if (account === 'none') return 'create';
  return account === 'verified' ? 'link' : 'discard and link';
};
