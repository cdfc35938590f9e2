import type { ProfileAddress, ToldProfile } from '../../projects/social-providers.ts';
import { checkEmail } from '../email.ts';

/** Somebody as a provider knows them. `id` never changes; `addresses` are canonical, the provider's main one first. */
export interface SocialProfile {
  readonly id: string;
  readonly name: string | undefined;
  readonly username: string | undefined;
  readonly addresses: readonly ProfileAddress[];
}

/** More addresses than anybody has use for are not looked at. */
const maxAddresses = 10;

/** A text for people, or `undefined` where the provider has none that could be shown as it is. */
const labelOf = (value: unknown): string | undefined => {
  const text = typeof value === 'string' ? value.trim() : '';
  return text !== '' && text.length <= 100 && text.isWellFormed() && !/\p{Cc}/u.test(text) ? text : undefined;
};

const canonical = (email: string): string | undefined => {
  try {
    return checkEmail(email);
  } catch {
    return undefined;
  }
};

/** What of a provider's answers is fit to be kept; addresses that stand for hidden ones end with `hiddenAddresses`. */
export const profileFrom = (
  { id, name, username, addresses }: ToldProfile,
  hiddenAddresses: string | null,
): SocialProfile => ({
  id,
  name: labelOf(name),
  username: labelOf(username),
  addresses: addresses
    .flatMap((address) => {
      const email = canonical(address.email);
      const isHidden = hiddenAddresses !== null && email?.endsWith(hiddenAddresses);
      return email === undefined || isHidden ? [] : [{ email, verified: address.verified }];
    })
    .slice(0, maxAddresses),
});
