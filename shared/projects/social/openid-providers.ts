import * as v from 'valibot';
import {
  label,
  type ProviderRules,
  subject,
  type ToldProfile,
  usual,
  vouchedFor,
  withPrivateKey,
} from './provider-rules.ts';

const optionalText = v.nullish(v.string());

/** Standard claims (OpenID Connect Core 5.1). Without `email_verified` an address is unverified. */
const claims = v.object({
  sub: subject,
  email: optionalText,
  email_verified: v.optional(v.unknown()),
  name: label,
  preferred_username: label,
  nickname: label,
});

type Claims = v.InferOutput<typeof claims>;

const toldBy = ({ sub, email, email_verified: verified, ...labels }: Claims): ToldProfile => ({
  id: sub,
  name: labels.name,
  username: labels.preferred_username ?? labels.nickname,
  addresses: vouchedFor(email, verified === true),
});

const userinfo = v.pipe(
  v.object({ user: claims }),
  v.transform(({ user }) => toldBy(user)),
);

const vouches = ({ email, email_verified: verified }: Claims): boolean => Boolean(email) && verified === true;

/**
 * Merges ID token and userinfo, which must have the same subject. Either can verify the address: Amazon Cognito's
 * endpoint returns `"true"` as a string, only its token is correct.
 */
export const idTokenProfile = v.pipe(
  v.object({ claims, user: v.optional(claims) }),
  v.check(({ claims: { sub }, user }) => user === undefined || user.sub === sub, 'The responses are about two people'),
  v.transform(({ claims: signed, user }) => {
    const address = user?.email && !vouches(signed) ? user : signed;
    const { email, email_verified } = address;
    return toldBy({ ...signed, ...user, name: user?.name ?? signed.name, email, email_verified });
  }),
);

/** The name in Apple's `user` form field; none if malformed. */
export const formName = v.fallback(
  v.pipe(
    v.string(),
    v.maxLength(4096),
    v.parseJson(),
    v.object({ name: v.object({ firstName: v.optional(v.string(), ''), lastName: v.optional(v.string(), '') }) }),
    v.transform(({ name: { firstName, lastName } }) => `${firstName} ${lastName}`.trim()),
  ),
  '',
);

/** The name comes through the browser, only at the first sign-in, and is unverified. */
const appleProfile = v.pipe(
  v.object({ claims, form: v.optional(formName) }),
  v.transform(({ claims: { email_verified: verified, ...rest }, form }) =>
    toldBy({ ...rest, name: form, email_verified: verified === true || verified === 'true' }),
  ),
);

const slackTeam = 'https://slack.com/team_id';

const openid = { ...usual, scopes: ['openid', 'email', 'profile'], profile: userinfo } as const;

export const openidProviders = {
  google: {
    ...openid,
    title: 'Google',
    urls: {
      authorization: 'https://accounts.google.com/o/oauth2/v2/auth',
      token: 'https://oauth2.googleapis.com/token',
    },
    profileUrls: { user: 'https://openidconnect.googleapis.com/v1/userinfo' },
    profile: v.pipe(
      v.object({ user: v.object({ sub: subject, email: v.string(), email_verified: v.boolean(), name: label }) }),
      v.transform(({ user: { sub, email, email_verified: verified, name } }) => ({
        id: sub,
        name,
        username: undefined,
        addresses: [{ email, verified }],
      })),
    ),
  },
  /**
   * The administrator of any tenant can set `email`:
   * https://learn.microsoft.com/entra/identity-platform/claims-validation
   */
  microsoft: {
    ...openid,
    title: 'Microsoft',
    scopes: ['openid', 'profile'],
    urls: {
      authorization: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
      token: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    },
    profileUrls: { user: 'https://graph.microsoft.com/oidc/userinfo' },
    verifiesAddresses: false,
  },
  apple: {
    ...usual,
    title: 'Apple',
    scopes: ['name', 'email'],
    registration: withPrivateKey,
    urls: {
      authorization: 'https://appleid.apple.com/auth/authorize',
      token: 'https://appleid.apple.com/auth/token',
      keys: 'https://appleid.apple.com/auth/keys',
      issuer: 'https://appleid.apple.com',
    },
    profileUrls: {},
    profile: appleProfile,
    hasPkce: false,
    parameters: { response_mode: 'form_post' },
  },
  gitlab: {
    ...openid,
    title: 'GitLab',
    urls: { authorization: 'https://gitlab.com/oauth/authorize', token: 'https://gitlab.com/oauth/token' },
    profileUrls: { user: 'https://gitlab.com/oauth/userinfo' },
  },
  linkedin: {
    ...openid,
    title: 'LinkedIn',
    urls: {
      authorization: 'https://www.linkedin.com/oauth/v2/authorization',
      token: 'https://www.linkedin.com/oauth/v2/accessToken',
    },
    profileUrls: { user: 'https://api.linkedin.com/v2/userinfo' },
    hasPkce: false,
  },
  twitch: {
    ...openid,
    title: 'Twitch',
    scopes: ['openid', 'user:read:email'],
    urls: { authorization: 'https://id.twitch.tv/oauth2/authorize', token: 'https://id.twitch.tv/oauth2/token' },
    profileUrls: { user: 'https://id.twitch.tv/oauth2/userinfo' },
    hasPkce: false,
    parameters: { claims: '{"userinfo":{"email":null,"email_verified":null,"preferred_username":null}}' },
  },
  slack: {
    ...openid,
    title: 'Slack',
    urls: {
      authorization: 'https://slack.com/openid/connect/authorize',
      token: 'https://slack.com/api/openid.connect.token',
    },
    profileUrls: { user: 'https://slack.com/api/openid.connect.userInfo' },
    // Member ids are unique per workspace only.
    profile: v.pipe(
      v.object({ user: v.object({ ...claims.entries, [slackTeam]: subject }) }),
      v.transform(({ user }) => toldBy({ ...user, sub: `${user[slackTeam]}.${user.sub}` })),
    ),
    hasPkce: false,
    sendsSecret: 'as Basic',
  },
} satisfies Readonly<Record<string, ProviderRules>>;
