import { askAws } from './ask-aws.ts';
import { type Check, ok, type Target, warning } from './check.ts';

interface Subscription {
  readonly arn: string;
  readonly endpoint: string;
}

const valueIn = (member: string, name: string): string =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(member)?.[1] ?? '';

/** Those of the alarms' topic, whose name begins with that of its stack. */
const subscriptionsOf = async (target: Target): Promise<readonly Subscription[]> => {
  const found: Subscription[] = [];
  let next = '';
  do {
    const parameters = { Action: 'ListSubscriptions', Version: '2010-03-31', ...(next && { NextToken: next }) };
    const answer = await askAws(target, {
      service: 'sns',
      contentType: 'application/x-www-form-urlencoded',
      body: new URLSearchParams(parameters).toString(),
    });
    for (const [member] of answer.matchAll(/<member>[\s\S]*?<\/member>/g)) {
      if (!valueIn(member, 'TopicArn').includes(`:${target.deployment}-Watch-`)) continue;
      found.push({ arn: valueIn(member, 'SubscriptionArn'), endpoint: valueIn(member, 'Endpoint') });
    }
    next = valueIn(answer, 'NextToken');
  } while (next !== '');
  return found;
};

/** Whether an alarm reaches anybody. */
export const alarmMailCheck: Check = {
  name: 'mail of alarms',
  deployedOnly: true,
  run: async (target) => {
    const subscriptions = await subscriptionsOf(target);
    if (subscriptions.length === 0) return warning('nobody is told of alarms', 'Deploy with -c alarmEmail=<address>.');
    const waiting = subscriptions.filter(({ arn }) => !arn.startsWith('arn:')).map(({ endpoint }) => endpoint);
    if (waiting.length === 0) return ok(`alarms go to ${subscriptions.map(({ endpoint }) => endpoint).join(', ')}`);
    return warning(
      `${waiting.join(', ')} has not confirmed, and is told nothing`,
      'Follow the link in the mail of AWS Notifications; after three days deploy without alarmEmail and with it again.',
    );
  },
};
