import { hash, randomBytes } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import type { Person } from './people.ts';

/** What an app asked for, and who consented. */
export interface Grant {
  readonly provider: string;
  readonly person: Person;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly challenge: string | null;
  readonly nonce: string | null;
}

/** What stands against redeeming a code, as OAuth calls it. */
export class GrantProblem extends Error {}

const s256 = (verifier: string): string => hash('sha256', verifier, 'base64url');

/** The client that asks and its secret, from the body or from Basic credentials. */
const clientOf = (form: URLSearchParams, authorization = ''): readonly [id: string, secret: string] => {
  const encoded = /^Basic (\S+)$/.exec(authorization)?.[1];
  if (encoded === undefined) return [form.get('client_id') ?? '', form.get('client_secret') ?? ''];
  const [id = '', secret = ''] = Buffer.from(encoded, 'base64').toString().split(':').map(decodeURIComponent);
  return [id, secret];
};

/** Apple's rules of a client secret; whose key signed it is not known here. */
const isSignedSecret = (secret: string, clientId: string, audience: string): boolean => {
  try {
    const { alg, kid } = decodeProtectedHeader(secret);
    const { iss, sub, aud, exp = 0, iat = 0 } = decodeJwt(secret);
    const lives = exp - iat > 0 && exp - iat <= 15_777_000;
    return alg === 'ES256' && kid !== undefined && iss !== undefined && sub === clientId && aud === audience && lives;
  } catch {
    return false;
  }
};

/** Codes that are good once, for the client, address and verifier that they were asked for with. */
export class Codes {
  readonly #grants = new Map<string, Grant>();

  issue(grant: Grant): string {
    const code = randomBytes(20).toString('hex');
    this.#grants.set(code, grant);
    return code;
  }

  /** What a code stands for; any client id and secret is good but one that begins with `wrong`. */
  redeem(provider: string, issuer: string, form: URLSearchParams, authorization: string | undefined): Grant {
    const [clientId, secret] = clientOf(form, authorization);
    const isKnown = provider === 'apple' ? isSignedSecret(secret, clientId, issuer) : !/^(?:wrong|$)/.test(secret);
    if (!isKnown) throw new GrantProblem('invalid_client');
    const code = form.get('code') ?? '';
    const grant = this.#grants.get(code);
    this.#grants.delete(code);
    const verifier = form.get('code_verifier');
    const isBound = grant?.challenge === (verifier === null ? null : s256(verifier));
    if (!grant || grant.provider !== provider || grant.clientId !== clientId || !isBound) {
      throw new GrantProblem('invalid_grant');
    }
    if (grant.redirectUri !== form.get('redirect_uri')) throw new GrantProblem('invalid_grant');
    return grant;
  }
}
