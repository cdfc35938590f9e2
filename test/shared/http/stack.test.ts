import type { Context } from 'aws-lambda';
import { describe, expect, test } from 'vitest';
import { dataRoutes } from '../../../functions/data/routes.ts';
import { AppError } from '../../../shared/core/errors.ts';
import { allowedOrigin, apiKey, startProjectLookup } from '../../../shared/http/middleware/api-key.ts';
import { collection, ownedCollection } from '../../../shared/http/middleware/collection.ts';
import { developerToken, ownedProject } from '../../../shared/http/middleware/developer.ts';
import { errorEnvelope } from '../../../shared/http/middleware/error-envelope.ts';
import { rateLimit, rateLimitBeside } from '../../../shared/http/middleware/rate-limit.ts';
import { userToken } from '../../../shared/http/middleware/user-token.ts';
import { type Event, type Middleware, Stack } from '../../../shared/http/stack.ts';
import { enabledUsers, signedInUser } from '../../../shared/http/user-endpoint.ts';
import { signedWebhook } from '../../../shared/http/webhook-endpoint.ts';

const route = dataRoutes['get-document'];
const event = { requestContext: { requestId: 'r-1' } } as Event;
const reply = (body: string) => ({ statusCode: 200, headers: {}, body });

const empty = () => Stack.of(route);
const enveloped = () => empty().use(errorEnvelope());
const keyed = () => enveloped().use(rateLimitBeside(route, startProjectLookup())).use(apiKey());

describe('a stack does not compile when a middleware lacks what it needs', () => {
  test.each([
    // @ts-expect-error the headers of the answer
    ['rateLimit', () => empty().use(rateLimit(route))],
    // @ts-expect-error the headers of the answer
    ['signedWebhook', () => empty().use(signedWebhook(route))],
    // @ts-expect-error the look-up of the project, which begins beside the rate limit
    ['apiKey', () => enveloped().use(rateLimit(route)).use(apiKey())],
    // @ts-expect-error the key
    ['allowedOrigin', () => enveloped().use(allowedOrigin())],
    // @ts-expect-error the key
    ['collection', () => enveloped().use(collection())],
    // @ts-expect-error the collection
    ['userToken', () => keyed().use(userToken(true))],
    // @ts-expect-error the key
    ['enabledUsers', () => enveloped().use(enabledUsers(route))],
    // @ts-expect-error the key
    ['signedInUser', () => enveloped().use(signedInUser())],
    // @ts-expect-error the developer
    ['ownedProject', () => enveloped().use(ownedProject(route))],
    // @ts-expect-error the project
    ['ownedCollection', () => enveloped().use(developerToken(route)).use(ownedCollection(route))],
    // @ts-expect-error the handler asks for a collection that nothing looked up
    ['the handler', () => keyed().handler(async (_event, { collection: { name } }) => reply(name))],
    ['with all of it, it does', () => keyed().use(collection()).use(userToken(true)).use(allowedOrigin())],
  ])('%s', (_name, build) => {
    expect(build).not.toThrow();
  });
});

const seen: string[] = [];

const adds = <Added extends object>(added: Added): Middleware<unknown, Added> => ({
  before: () => {
    seen.push(`sync ${Object.keys(added)}`);
    return added;
  },
});

const addsLater = <Added extends object>(added: Added): Middleware<{ readonly a: number }, Added> => ({
  before: async ({ context }) => {
    await Promise.resolve();
    seen.push(`later ${Object.keys(added)} with a ${context.a}`);
    return added;
  },
});

describe('a request', () => {
  test('passes each middleware in order, and the handler gets what all of them added', async () => {
    seen.length = 0;
    const handler = empty()
      .use(adds({ a: 1 }))
      .use(addsLater({ b: 'two' }))
      .use(adds({ c: true }))
      .handler(async (_event, { a, b, c }) => reply(`${a} ${b} ${c}`));
    expect((await handler(event, {} as Context)).body).toBe('1 two true');
    expect(seen).toEqual(['sync a', 'later b with a 1', 'sync c']);
  });

  test('stops when a middleware rejects it, and the earlier ones see the error', async () => {
    seen.length = 0;
    const refusing: Middleware<unknown, void> = {
      before: () => {
        throw new AppError('NOT_OWNER', 'No.');
      },
    };
    const closing: Middleware<unknown, { readonly opened: string }> = {
      before: () => ({ opened: 'a file' }),
      onError: ({ context, error }) => {
        seen.push(`${context.opened}: ${error?.message}`);
      },
    };
    const handler = enveloped()
      .use(closing)
      .use(refusing)
      .use(adds({ never: true }))
      .handler(async () => reply('never'));
    const { statusCode, headers } = await handler(event, {} as Context);
    expect([statusCode, headers['x-request-id']]).toEqual([403, 'r-1']);
    expect(seen).toEqual(['a file: No.']);
  });

  test('shares no state with another request of the same handler', async () => {
    let count = 0;
    const counting: Middleware<unknown, { readonly mine: number }> = { before: () => ({ mine: ++count }) };
    const handler = empty()
      .use(counting)
      .handler(async (_event, { mine }) => {
        await Promise.resolve();
        return reply(String(mine));
      });
    const answers = await Promise.all([1, 2, 3].map(() => handler(event, {} as Context)));
    expect(answers.map(({ body }) => body)).toEqual(['1', '2', '3']);
  });
});
