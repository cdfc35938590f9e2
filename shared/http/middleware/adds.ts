import type middy from '@middy/core';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import type { Reply } from '../reply.ts';

export type Event = APIGatewayProxyEventV2;

/** A middleware that puts `Added` on the context, for the middleware and the handler after it. */
export type Adds<Added> = middy.MiddlewareObj<Event, Reply, Error, Context & Added>;

/** What the middleware before it has put on the context. */
export type Needs<Added> = Context & Added;

/** Begins something for a request and puts it on the context while it is under way. */
export type Begin<Added> = (event: Event, context: Context & Added) => void;
