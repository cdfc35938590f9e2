import { randomUUID, timingSafeEqual } from 'node:crypto';
import middy from '@middy/core';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import type { Client } from '../accounts/sessions.ts';
import { rateLimits } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import { currentRequest } from '../core/request.ts';
import type { Reply } from './reply.ts';
import type { NamedRoute } from './route.ts';

export type Event = APIGatewayProxyEventV2;

interface Incoming<Needs> {
  readonly event: Event;
  readonly context: Context & Needs;
}

type Outgoing<Known> = middy.Request<Event, Reply, Error, Context & Partial<Known>>;

/** One step of a request. It reads `Needs` from the context and adds what `before` returns. */
export interface Middleware<Needs, Added> {
  readonly before: (incoming: Incoming<Needs>) => Added | Promise<Added>;
  readonly after?: (outgoing: Outgoing<Added>) => void | Promise<void>;
  readonly onError?: (outgoing: Outgoing<Added>) => void | Promise<void>;
}

export type Start<Added> = (event: Event) => Added;

export type LambdaHandler = (event: Event, context: Context) => Promise<Reply>;

type With<Has, Added> = Added extends object ? Has & Added : Has;

/** If `Has` lacks `Needs`, the type error names what is missing. */
type Fitting<Has, Needs, Added> = Has extends Needs ? Middleware<Needs, Added> : { readonly isMissing: Needs };

type Attach = (handler: middy.MiddyfiedHandler<Event, Reply>) => void;

const outOfTime = (): never => {
  throw new AppError('SERVICE_UNAVAILABLE', 'The request took too long. Retry.', { retryAfter: 5 });
};

const toMiddy = <Needs, Added>({
  before,
  after,
  onError,
}: Middleware<Needs, Added>): middy.MiddlewareObj<Event, Reply, Error, Context & Needs & Partial<Added>> => ({
  before: (request) => {
    const added = before(request);
    // Most middleware returns synchronously; awaiting it would cost time.
    if (added instanceof Promise) {
      return added.then((pending) => {
        Object.assign(request.context, pending);
      });
    }
    Object.assign(request.context, added);
    return undefined;
  },
  ...(after && { after }),
  ...(onError && { onError }),
});

/**
 * The middleware of a route, in order. `Has` is what they add to the context. A middleware or handler whose needs are
 * unmet does not compile.
 */
export class Stack<Has> {
  readonly #route: NamedRoute;
  readonly #attached: readonly Attach[];

  private constructor(route: NamedRoute, attached: readonly Attach[]) {
    this.#route = route;
    this.#attached = attached;
  }

  static of(route: NamedRoute): Stack<unknown> {
    return new Stack(route, []);
  }

  use<Needs, Added>(middleware: Middleware<Needs, Added> & Fitting<Has, Needs, Added>): Stack<With<Has, Added>> {
    return new Stack(this.#route, [...this.#attached, (handler) => handler.use(toMiddy(middleware))]);
  }

  /** Closes the stack. One second before the Lambda timeout it responds with an error. */
  handler(act: (event: Event, context: Context & Has) => Promise<Reply>): LambdaHandler {
    const { id } = this.#route;
    const path = middy<Event, Reply>({ timeoutEarlyInMillis: 1000, timeoutEarlyResponse: outOfTime });
    for (const attach of this.#attached) attach(path);
    // The middleware of this stack added everything in `Has`.
    const run = path.handler((event: Event, context: Context) => act(event, context as Context & Has));
    return (event, context) =>
      currentRequest.run(
        {
          requestId: event.requestContext.requestId || randomUUID(),
          route: id,
          startedAt: performance.now(),
          databaseMs: 0,
        },
        () => run(event, context),
      );
  }
}

const isSecret = (text = '', secret: string): boolean => {
  const [given, wanted] = [Buffer.from(text), Buffer.from(secret)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
};

/**
 * Returns the address of the caller: the gateway's, or the one that CloudFront passes with the secret header. Headers
 * of other senders are ignored.
 */
export const sourceAddress = ({ headers, requestContext: { http } }: Event): string => {
  const { VIEWER_SECRET } = rateLimits();
  if (VIEWER_SECRET === '' || !isSecret(headers['x-viewer-secret'], VIEWER_SECRET)) return http.sourceIp;
  return headers['x-viewer-address'] || http.sourceIp;
};

export const clientOf = (event: Event): Client => ({
  ip: sourceAddress(event),
  userAgent: event.requestContext.http.userAgent ?? '',
});
