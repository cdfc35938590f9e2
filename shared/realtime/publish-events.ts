import { signedForFetch } from '../clients/aws/signature.ts';
import { publish } from '../clients/commands.ts';
import { cutText } from '../core/bounded-text.ts';
import { awsCredentials, awsRegion, realtimeSettings } from '../core/config.ts';
import { describeError, log } from '../core/log.ts';

/** Events for one channel, each as JSON. */
interface Publication {
  readonly channel: string;
  readonly events: readonly string[];
}

/** The Event API takes so many at once. */
const maxEvents = 5;

/** So many requests a write has to spare; the changes feed brings what is beyond. */
const maxRequests = 20;

const batched = ({ channel, events }: Publication): Publication[] =>
  Array.from({ length: Math.ceil(events.length / maxEvents) }, (_, batch) => ({
    channel,
    events: events.slice(batch * maxEvents, (batch + 1) * maxEvents),
  }));

const send = async (address: URL, publication: Publication, signal: AbortSignal): Promise<void> => {
  publish({ system: 'appsync', name: 'EventPublish' });
  const body = JSON.stringify(publication);
  const destination = {
    service: 'appsync',
    region: awsRegion(),
    host: address.host,
    path: address.pathname,
    contentType: 'application/json',
  };
  const headers = signedForFetch(destination, awsCredentials(), body, Date.now());
  const answer = await fetch(address, { method: 'POST', headers, body, signal });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`The Event API answered ${answer.status}: ${cutText(text, 200)}`);
};

/** Publishes within `NUDGE_MS`, 200 ms, what can be; the rest is lost, and a failure no more than logged. */
export const publishEvents = async (address: string, publications: readonly Publication[]): Promise<void> => {
  const signal = AbortSignal.timeout(realtimeSettings().NUDGE_MS);
  const batches = publications.flatMap(batched).slice(0, maxRequests);
  const sent = await Promise.allSettled(batches.map((batch) => send(new URL(address), batch, signal)));
  const failed = sent.find((outcome) => outcome.status === 'rejected');
  if (failed) log.warn({ message: 'Nudges were not published', error: describeError(failed.reason) });
};

/** Where events are published; `undefined` where nothing is deployed that takes them. */
export const publishAddress = (): string | undefined => realtimeSettings().REALTIME_PUBLISH_URL;
