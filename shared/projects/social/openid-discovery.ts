import * as v from 'valibot';
import { guardedRequest, isGuardedUrl } from '../../clients/net/guarded-request.ts';
import { ShortCache } from '../../core/short-cache.ts';
import { providerLimits } from './provider-rules.ts';

/** As a project's settings take it: what is discovered stands below it. */
export const isIssuer = (text: string): boolean => isGuardedUrl(text) && !/[?#\s\\]/.test(text);

const endpoint = v.pipe(v.string(), v.maxLength(2000), v.check(isGuardedUrl));
const list = v.optional(v.array(v.string()));

const document = v.object({
  issuer: v.string(),
  authorization_endpoint: endpoint,
  token_endpoint: endpoint,
  jwks_uri: endpoint,
  userinfo_endpoint: v.optional(endpoint),
  token_endpoint_auth_methods_supported: list,
  authorization_response_iss_parameter_supported: v.optional(v.boolean()),
});

/** What an issuer says of itself (OpenID Connect Discovery 1.0, 3). */
type Discovered = v.InferOutput<typeof document>;

const cache = new ShortCache<Discovered>(600_000, 500);

const read = async (issuer: string): Promise<Discovered> => {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const { status, text } = await guardedRequest(url, { headers: { accept: 'application/json' }, ...providerLimits });
  if (status !== 200) throw new Error(`The discovery document was answered with status ${status}`);
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), document), text);
  if (!parsed.success) throw new Error('The discovery document lacks what OpenID Connect asks for, or leads elsewhere');
  if (parsed.output.issuer !== issuer) throw new Error('The discovery document names another issuer');
  return parsed.output;
};

/** What an issuer says of itself, kept for 10 minutes; none, a restricted address, another issuer → rejects. */
export const discover = (issuer: string): Promise<Discovered> => cache.get(issuer, () => read(issuer));
