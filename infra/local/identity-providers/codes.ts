import { hash, randomBytes } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import type { Person } from './people.ts';

/** An app's request, and the person who consented. */
export interface Grant {
  readonly provider: string;
  readonly person: Person;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly challenge: string | null;
  readonly nonce: string | null;
}

/** An OAuth error code, such as `invalid_grant`. */
export class GrantProblem extends Error {}

const s256 = (verifier: string): string => hash('sha256', verifier, 'base64url');

/** Client id and secret, from the body or from Basic credentials. */
const clientOf = (form: URLSearchParams, authorization = ''): readonly [id: string, secret: string] => {
  const encoded = /^Basic (\S+)$/.exec(authorization)?.[1];
  if (encoded === undefined) return [form.get('client_id') ?? '', form.get('client_secret') ?? ''];
  const [id = '', secret = ''] = Buffer.from(encoded, 'base64').toString().split(':').map(decodeURIComponent);
  return [id, secret];
};

/** Checks a client secret by Apple's rules, except its signature, whose key is unknown here. */
const isSignedSecret = (secret: string, clientId: string, audience: string): boolean => {
  try {
    const { alg, kid } = decodeProtectedHeader(secret);
    const { iss, sub, aud, exp = 0, iat = 0 } = decodeJwt(secret);
    const isLifetimeValid = exp - iat > 0 && exp - iat <= 15_777_000;
    const isClaimed = iss !== undefined && sub === clientId && aud === audience;
    return alg === 'ES256' && kid !== undefined && isClaimed && isLifetimeValid;
  } catch {
    return false;
  }
};

/** Single-use codes, each bound to its client, redirect URL and verifier. */
export class Codes {
  readonly #grants = new Map<string, Grant>();

  issue(grant: Grant): string {
    const code = randomBytes(20).toString('hex');
    this.#grants.set(code, grant);
    return code;
  }

  /** Returns the grant of a code. Accepts any client secret, except an empty one and those that begin with `wrong`. */
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
