import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { newCode, newLinkToken, parseCode, parseLinkToken } from '../../shared/accounts/email-tokens.ts';
import { newRefreshToken, parseRefreshToken } from '../../shared/accounts/sessions.ts';
import { issueDashboardToken, verifyDashboardToken } from '../../shared/accounts/tokens.ts';
import { isSigned as isSignedLink, signedAddress } from '../../shared/files/signed-links.ts';
import { cookie, getCookie } from '../../shared/http/cookies.ts';
import { isSigned, parseSecrets, sign } from '../../shared/mail/event-signature.ts';
import { id, listOf, mutated, optional, sequence } from './grammar.ts';
import { parser } from './parser.ts';

/** In seconds. */
const now = 1_800_000_000;

const eventOf = (cookies: readonly string[]) =>
  ({ cookies, headers: {}, requestContext: { domainName: 'api.example.com' } }) as never;

const cookies = parser(
  'cookies',
  fc.tuple(
    fc.array(mutated(fc.constantFrom('rt=1', 'x=2', 'r=rt=3', 'rt', '=rt=')), { maxLength: 3 }),
    fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/),
  ),
  ([others, value]) => {
    const [pair = ''] = cookie(eventOf([]), 'rt', value, { path: '/', sameSite: 'Lax', maxAge: 1 }).split('; ');
    assert.equal(getCookie(eventOf([pair, ...others]), 'rt'), value);
    return getCookie(eventOf(others), 'rt');
  },
);

const amr = fc.array(fc.constantFrom('pwd', 'otp', 'social:github'), { maxLength: 3 });

const tokens = parser(
  'refresh tokens and codes',
  fc.tuple(id, id, amr, mutated(id)),
  ([userId, sessionId, methods, other]) => {
    const { token, hash } = newRefreshToken(userId, sessionId, methods);
    const { amr: read = [], ...rest } = parseRefreshToken(token) ?? {};
    assert.deepEqual([{ ...rest }, read], [{ userId, sessionId, hash }, methods]);
    const link = newLinkToken('AAAAAAAAAAAAAAAAAAAAAA');
    assert.deepEqual(parseLinkToken(` ${link.token}\u200b`), { addressKey: 'AAAAAAAAAAAAAAAAAAAAAA', hash: link.hash });
    const code = newCode();
    assert.equal(parseCode(code.toLowerCase().replace('-', ' – ')), code.replace('-', ''));
    return [other, token + other, other + token].map((sent) => [
      parseRefreshToken(sent),
      parseLinkToken(sent),
      parseCode(sent),
    ]);
  },
);

const part = fc
  .constantFrom(
    '{"alg":"none"}',
    '{"alg":"HS256","typ":"dashboard+jwt"}',
    '{"sub":"a"}',
    '{"exp":1e99}',
    '',
    '[]',
    'null',
    '{"__proto__":{}}',
  )
  .map((each) => Buffer.from(each).toString('base64url'));

const madeTokens = parser(
  'access tokens',
  fc.tuple(mutated(sequence(part, '.', part, '.', optional(part))), fc.option(fc.nat())),
  async ([forged, change]) => {
    if (change === null) return verifyDashboardToken(forged);
    const { accessToken } = await issueDashboardToken({ userId: 'a'.repeat(24), sessionId: 'b'.repeat(24) });
    const at = change % accessToken.lastIndexOf('.');
    const other = `${accessToken.slice(0, at)}${accessToken[at] === 'A' ? 'B' : 'A'}${accessToken.slice(at + 1)}`;
    const found = await verifyDashboardToken(other);
    assert.fail(`A changed token was accepted: ${JSON.stringify(found)}`);
  },
);

const [secret] = parseSecrets(`whsec_${Buffer.alloc(24, 7).toString('base64')}`) as [Buffer];

const signed = sign(secret, 'm', String(now), 'body');

const signatures = parser(
  'signatures of events',
  fc.record({
    signature: mutated(listOf(fc.constantFrom(signed, 'v1,x', 'v2,y', 'v1a,'), ' ')),
    timestamp: mutated(fc.constant(String(now))),
    id: mutated(fc.constant('m')),
    body: mutated(fc.constant('body')),
  }),
  ({ body, ...sent }) => {
    const isAccepted = isSigned({ ...sent, body: Buffer.from(body) }, [secret], now);
    const isRight =
      sent.signature
        .split(/[\s,]v1,|[\s,]+(?=v1)/)
        .join(' ')
        .includes(signed.slice(3)) &&
      sent.id === 'm' &&
      sent.timestamp === String(now) &&
      body === 'body';
    assert.ok(!isAccepted || isRight, 'A forged event was accepted');
    return isAccepted;
  },
);

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

const linkKeys = new Map([['K', publicKey]]);

const address = fc.constantFrom('https://files.example.com/private/a', 'https://files.example.com/private/a?w=64');

const links = parser(
  'signed links',
  fc
    .tuple(address, fc.nat(3))
    .chain(([place, size]) =>
      fc.tuple(
        fc.constant(signedAddress(place, now + size, { id: 'K', privateKey } as never)),
        fc.nat(10_000),
        fc.boolean(),
      ),
    ),
  ([link, at, isChanged]) => {
    if (!isChanged) assert.ok(isSignedLink(link, linkKeys, 1000 * (now - 1)), 'A signed link was rejected');
    const place = at % link.length;
    const other = `${link.slice(0, place)}${link[place] === 'A' ? 'B' : 'A'}${link.slice(place + 1)}`;
    assert.ok(!isSignedLink(other, linkKeys, 1000 * (now - 1)), 'A changed link was accepted');
    return isSignedLink(`${link}&${other}`, linkKeys, now);
  },
);

/** What proves who sends it: a change of it must not be accepted. */
export const proofs = [cookies, tokens, madeTokens, signatures, links];
