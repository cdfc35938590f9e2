import * as v from 'valibot';
import { type RegistrationFields, withClientSecret } from './registration.ts';

/** An e-mail address of a profile, and whether the provider has verified it. */
export interface ProfileAddress {
  readonly email: string;
  readonly verified: boolean;
}

/** What a provider tells of somebody, in its own words: nothing of it is known to be fit to be kept or shown. */
export interface ToldProfile {
  /** Never changes. */
  readonly id: string;
  readonly name: unknown;
  readonly username: unknown;
  /** The main one first. */
  readonly addresses: readonly ProfileAddress[];
}

/** Its places by what they are for; a type, so that they can be listed by name. */
type ProviderUrls = {
  readonly authorization: string;
  readonly token: string;
  /** Of the keys that sign its ID tokens, and the issuer that these name: those that have any are read by them. */
  readonly keys?: string;
  readonly issuer?: string;
};

/** All that one provider differs in from another; the flow is the same. */
export interface ProviderRules {
  /** Its name for people. */
  readonly title: string;
  readonly scopes: readonly string[];
  /** What a developer registers of it here. */
  readonly registration: RegistrationFields;
  /** Where the browser is sent, and where codes are redeemed. */
  readonly urls: ProviderUrls;
  /** Name → what to read with the token; all the answers together have to fit `profile`. */
  readonly profileUrls: Readonly<Record<string, string>>;
  /** Reads the answers; beside them `claims` of an ID token that was verified, and `form`, what the browser brought. */
  readonly profile: v.GenericSchema<unknown, ToldProfile>;
  /** How addresses end that stand for hidden ones, where nobody reads mail; `null` where there are none. */
  readonly hiddenAddresses: string | null;
  /** False where its addresses are whatever somebody typed: it signs in by identity alone. */
  readonly verifiesAddresses: boolean;
  /** Whether codes are bound by PKCE; an ID token binds its code by a nonce besides. */
  readonly hasPkce: boolean;
  /** How the client secret is sent with a code. */
  readonly sendsSecret: 'in the body' | 'as Basic';
  /** What the address of its page has besides what OAuth asks for. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** Of one request to a provider; a sign-in makes a few in a row, well within the function's own limit. */
export const providerLimits = { limitMs: 5000, maxBytes: 256 * 1024 } as const;

/** What most providers have in common. */
export const usual = {
  registration: withClientSecret,
  hiddenAddresses: null,
  verifiesAddresses: true,
  hasPkce: true,
  sendsSecret: 'in the body',
  parameters: {},
} as const satisfies Partial<ProviderRules>;

/** What may be anything, as it is only shown. */
export const label = v.optional(v.unknown());

/** Letters, digits and signs, as a provider's ids are. */
export const subject = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,255}$/));

/** A verified address alone, or none. */
export const vouchedFor = (email: string | null | undefined, verified: boolean): readonly ProfileAddress[] =>
  email ? [{ email, verified }] : [];
