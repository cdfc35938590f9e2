import { hash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { escapeHtml as escaped } from '../../../shared/mail/templates/render.ts';
import { appleUser, idTokenClaims, type OwnFake, type Person, people, profiles } from './fakes.ts';

/** An app's request, and the person who consented. */
interface Grant {
  readonly provider: string;
  readonly person: Person;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly challenge: string | null;
  readonly nonce: string | null;
}

/** An OAuth error code, such as `invalid_grant`. */
class GrantProblem extends Error {}

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
class Codes {
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

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const json = (body: unknown, status = 200): Reply => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

const html = (body: string): Reply => ({ status: 200, headers: { 'content-type': 'text/html' }, body });

const hidden = (fields: Readonly<Record<string, string>>): string =>
  Object.entries(fields)
    .map(([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`)
    .join('');

const page = (title: string, content: string): string =>
  `<!doctype html><meta charset="utf-8"><title>${escaped(title)}</title><h1>${escaped(title)}</h1>${content}`;

/** The page on which a person chooses an account. */
const consentPage = (provider: string, action: string, request: Readonly<Record<string, string>>): string =>
  page(
    `Sign in with ${provider} (fake)`,
    people
      .map(
        ({ name, email }) =>
          `<form method="post" action="${escaped(action)}">${hidden({ ...request, who: email })}<button>${escaped(name)}, ${escaped(email)}</button></form>`,
      )
      .join(''),
  );

/** A page that posts a form to the app automatically (OAuth 2.0 Form Post Response Mode). */
const formPostPage = (action: string, fields: Readonly<Record<string, string>>): string =>
  page(
    'Back to the app',
    `<form method="post" action="${escaped(action)}">${hidden(fields)}<button>Continue</button></form><script>document.forms[0].submit()</script>`,
  );

const formOf = async (request: IncomingMessage): Promise<URLSearchParams> => new URLSearchParams(await text(request));

const keyId = 'fake';

/**
 * Fakes identity providers. Each has its addresses below `/<provider>/`, and `/openid/issuer` is an issuer with OpenID
 * Connect discovery. The accounts are those of `people`.
 */
export const createIdentityProviders = async (origin: string): Promise<Server> => {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: keyId, alg: 'RS256', use: 'sig' }] };
  const codes = new Codes();
  const tokens = new Map<string, { readonly provider: string; readonly person: Person }>();
  const issuerOf = (provider: string): string => `${origin}/${provider}/issuer`;

  const discovery = (provider: string) => ({
    issuer: issuerOf(provider),
    authorization_endpoint: `${origin}/${provider}/authorization`,
    token_endpoint: `${origin}/${provider}/token`,
    userinfo_endpoint: `${origin}/${provider}/user`,
    jwks_uri: `${origin}/${provider}/keys`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    authorization_response_iss_parameter_supported: true,
  });

  const consent = (provider: string, form: URLSearchParams): Reply => {
    const person = people.find(({ email }) => email === form.get('who'));
    const redirectUri = form.get('redirect_uri') ?? '';
    if (!person || !URL.canParse(redirectUri)) return json({ error: 'invalid_request' }, 400);
    const code = codes.issue({
      provider,
      person,
      clientId: form.get('client_id') ?? '',
      redirectUri,
      challenge: form.get('code_challenge'),
      nonce: form.get('nonce'),
    });
    const sent = { state: form.get('state') ?? '', code, ...(provider === 'openid' && { iss: issuerOf(provider) }) };
    if (form.get('response_mode') === 'form_post') {
      return html(formPostPage(redirectUri, { ...sent, user: appleUser(person) }));
    }
    const url = new URL(redirectUri);
    for (const [name, value] of Object.entries(sent)) url.searchParams.set(name, value);
    return { status: 302, headers: { location: url.href }, body: '' };
  };

  const token = async (provider: string, form: URLSearchParams, authorization?: string): Promise<Reply> => {
    const issuer = issuerOf(provider);
    const { person, clientId, nonce } = codes.redeem(provider, issuer, form, authorization);
    const accessToken = randomBytes(20).toString('hex');
    tokens.set(accessToken, { provider, person });
    const idToken = await new SignJWT({ ...idTokenClaims(provider, person), ...(nonce !== null && { nonce }) })
      .setProtectedHeader({ alg: 'RS256', kid: keyId })
      .setIssuer(issuer)
      .setAudience(clientId)
      .setIssuedAt()
      .setExpirationTime('10m')
      .sign(privateKey);
    return json({ access_token: accessToken, token_type: 'Bearer', expires_in: 600, id_token: idToken });
  };

  const user = (provider: string, authorization = ''): Reply => {
    const known = tokens.get(authorization.replace(/^Bearer /, ''));
    if (known?.provider !== provider) return json({ error: 'invalid_token' }, 401);
    const { person } = known;
    return json(Object.hasOwn(profiles, provider) ? profiles[provider as OwnFake](person) : person);
  };

  const route = async (request: IncomingMessage): Promise<Reply> => {
    const { method = 'GET', headers } = request;
    const { pathname, searchParams } = new URL(request.url ?? '/', origin);
    const [, provider = '', ...rest] = pathname.split('/');
    switch (`${method} ${rest.join('/')}`) {
      case 'GET authorization':
        return html(consentPage(provider, `/${provider}/consent`, Object.fromEntries(searchParams)));
      case 'POST consent':
        return consent(provider, await formOf(request));
      case 'POST token':
        return token(provider, await formOf(request), headers.authorization);
      case 'GET user':
        return user(provider, headers.authorization);
      case 'GET keys':
        return json(keys);
      case 'GET issuer/.well-known/openid-configuration':
        return json(discovery(provider));
      default:
        return json({ error: 'not_found' }, 404);
    }
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { status, headers, body } = await route(request).catch((error: unknown) =>
      error instanceof GrantProblem ? json({ error: error.message }, 400) : json({ error: 'server_error' }, 500),
    );
    response.writeHead(status, headers).end(body);
  };
  return createServer((request, response) => void serve(request, response));
};
