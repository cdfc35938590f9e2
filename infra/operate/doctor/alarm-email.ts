import { requestAws } from './aws-clients.ts';
import { type Check, ok, type Target, warning } from './check.ts';

interface Subscription {
  readonly arn: string;
  readonly endpoint: string;
}

const valueIn = (xml: string, name: string): string => new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? '';

/** The subscriptions of the alarm topic, whose name begins with the name of its stack. */
const subscriptionsOf = async (target: Target): Promise<readonly Subscription[]> => {
  const found: Subscription[] = [];
  let next = '';
  do {
    const parameters = { Action: 'ListSubscriptions', Version: '2010-03-31', ...(next && { NextToken: next }) };
    const page = await requestAws(target, {
      service: 'sns',
      contentType: 'application/x-www-form-urlencoded',
      body: new URLSearchParams(parameters).toString(),
    });
    for (const [member] of page.matchAll(/<member>[\s\S]*?<\/member>/g)) {
      if (!valueIn(member, 'TopicArn').includes(`:${target.deployment}-Watch-`)) continue;
      found.push({ arn: valueIn(member, 'SubscriptionArn'), endpoint: valueIn(member, 'Endpoint') });
    }
    next = valueIn(page, 'NextToken');
  } while (next !== '');
  return found;
};

/** Checks that somebody receives the alarms. */
export const alarmEmailCheck: Check = {
  name: 'alarm email',
  deployedOnly: true,
  run: async (target) => {
    const subscriptions = await subscriptionsOf(target);
    if (subscriptions.length === 0) return warning('no one receives alarms', 'Deploy with -c alarmEmail=<address>.');
    const waiting = subscriptions.filter(({ arn }) => !arn.startsWith('arn:')).map(({ endpoint }) => endpoint);
    if (waiting.length === 0)
      return ok(`alarms are sent to ${subscriptions.map(({ endpoint }) => endpoint).join(', ')}`);
    return warning(
      `${waiting.join(', ')} has not confirmed the subscription and receives no alarms`,
      'Open the link in the email from AWS Notifications. After three days, deploy without alarmEmail and then with it again.',
    );
  },
};
