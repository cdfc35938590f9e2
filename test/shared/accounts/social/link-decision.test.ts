import { describe, expect, test } from 'vitest';
import { decideLink, type LinkQuestion, type LinkStep } from '../../../../shared/accounts/social/link-account.ts';

type Row = readonly [
  provider: 'verified' | 'not verified' | 'never verified',
  identity: 'known' | 'unknown',
  account: LinkQuestion['account'],
  step: LinkStep,
];

/** The whole matrix: what the provider vouches for × whether its account is known × whose the address is here. */
const matrix: readonly Row[] = [
  ['verified', 'known', 'none', 'sign in'],
  ['verified', 'known', 'unverified', 'sign in'],
  ['verified', 'known', 'verified', 'sign in'],
  ['verified', 'unknown', 'none', 'create'],
  ['verified', 'unknown', 'unverified', 'discard and link'],
  ['verified', 'unknown', 'verified', 'link'],
  ['not verified', 'known', 'none', 'refuse'],
  ['not verified', 'known', 'unverified', 'refuse'],
  ['not verified', 'known', 'verified', 'refuse'],
  ['not verified', 'unknown', 'none', 'refuse'],
  ['not verified', 'unknown', 'unverified', 'refuse'],
  ['not verified', 'unknown', 'verified', 'refuse'],
  ['never verified', 'known', 'none', 'sign in'],
  ['never verified', 'known', 'unverified', 'sign in'],
  ['never verified', 'known', 'verified', 'sign in'],
  ['never verified', 'unknown', 'none', 'create'],
  ['never verified', 'unknown', 'unverified', 'create'],
  ['never verified', 'unknown', 'verified', 'create'],
];

const vouched = { verified: true, 'not verified': false, 'never verified': 'never' } as const;

describe('a social sign-in', () => {
  test.each(matrix)(
    'whose address is %s at the provider, by an identity that is %s, with account %s here, comes to: %s',
    (provider, identity, account, step) => {
      const question = { addressVerified: vouched[provider], identityKnown: identity === 'known', account };
      expect(decideLink({ ...question, anonymous: false })).toBe(step);
      // An anonymous user gets what would be a new account, and nothing else.
      expect(decideLink({ ...question, anonymous: true })).toBe(step === 'create' ? 'upgrade' : step);
    },
  );
});
