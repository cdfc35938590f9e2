import type middy from '@middy/core';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import type { Reply } from '../reply.ts';

/** An event of API Gateway, payload 2.0. */
export type Event = APIGatewayProxyEventV2;

/** What a middleware looks at: the event, and the context with what those before it have added. */
interface Incoming<Needs> {
  readonly event: Event;
  readonly context: Context & Needs;
}

/** What a middleware looks at when the response is made, or something was thrown on the way. */
type Outgoing<Known> = middy.Request<Event, Reply, Error, Context & Partial<Known>>;

/**
 * One concern of the path of a request. It reads `Needs` of the context, and what `before` returns is added to the
 * context, for the middleware and the handler after it; `void` where it only lets through or refuses.
 */
export interface Middleware<Needs, Added> {
  readonly before: (incoming: Incoming<Needs>) => Added | Promise<Added>;
  readonly after?: (outgoing: Outgoing<Added>) => void | Promise<void>;
  readonly onError?: (outgoing: Outgoing<Added>) => void | Promise<void>;
}

/** Starts something for a request and returns the pending result. */
export type Start<Added> = (event: Event) => Added;
