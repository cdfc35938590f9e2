import { decodeAttestationObject, isoBase64URL } from '@simplewebauthn/server/helpers';
import * as v from 'valibot';
import { AppError } from '../../core/errors.ts';
import type { RelyingParty } from './passkey.ts';

const bytes = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]+$/));
const credential = { id: bytes, rawId: bytes, type: v.literal('public-key') };

/** A new credential, as `toJSON` of a browser writes it. */
const Registration = v.object({
  ...credential,
  response: v.object({ clientDataJSON: bytes, attestationObject: bytes }),
});

/** A signature by a credential; `userHandle` says whose it is, which nobody else has said. */
const Authentication = v.object({
  ...credential,
  response: v.object({
    clientDataJSON: bytes,
    authenticatorData: bytes,
    signature: bytes,
    userHandle: v.pipe(bytes, v.length(16)),
  }),
});

/** A page that stands within one of another site is refused, as that may lay something over it. */
const ClientData = v.object({
  origin: v.string(),
  crossOrigin: v.optional(v.literal(false)),
  topOrigin: v.optional(v.undefined()),
});

/** What the package is given to verify; it asks for extensions, of which none count. */
interface Sent<T> {
  readonly response: T & { readonly clientExtensionResults: object };
  readonly expectedOrigin: string;
  readonly expectedRPID: string;
}

const sent = <T extends { readonly response: { readonly clientDataJSON: string } }>(
  response: T,
  { id, allows }: RelyingParty,
): Sent<T> => {
  const text = Buffer.from(response.response.clientDataJSON, 'base64url').toString();
  const { origin } = v.parse(ClientData, JSON.parse(text));
  if (!allows(origin)) throw new Error(`${origin} is no page of ${id}`);
  return {
    response: { ...response, clientExtensionResults: {} },
    expectedOrigin: origin,
    expectedRPID: id,
  };
};

/**
 * Throws where the maker of the authenticator vouches for it, which we ask of none: chains of certificates that the
 * caller sends would be verified, and what they name would be fetched.
 */
const requireUnattested = (attestationObject: string): void => {
  const attestation = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
  const format = attestation.get('fmt');
  if (format === 'none' || (format === 'packed' && attestation.get('attStmt').get('x5c') === undefined)) return;
  throw new Error('The attestation is of a kind that was not asked for');
};

/** A new credential that somebody sends; throws for what is none, or of no page of the party. */
export const parseRegistration = (input: unknown, party: RelyingParty): Sent<v.InferOutput<typeof Registration>> => {
  const response = v.parse(Registration, input);
  requireUnattested(response.response.attestationObject);
  return sent(response, party);
};

/** The same of a sign-in. */
export const parseAuthentication = (input: unknown, party: RelyingParty): Sent<v.InferOutput<typeof Authentication>> =>
  sent(v.parse(Authentication, input), party);

/** What `verify` returns; whatever it throws but failures of the service is one `refusal`. */
export const orRefuse = async <T>(refusal: (cause: unknown) => AppError, verify: () => Promise<T>): Promise<T> => {
  try {
    return await verify();
  } catch (error) {
    throw error instanceof AppError ? error : refusal(error);
  }
};
