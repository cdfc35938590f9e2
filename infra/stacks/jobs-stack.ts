import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as FunctionTarget } from 'aws-cdk-lib/aws-events-targets';
import { EventSourceMapping, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { type CfnResource, Duration, Stack, type StackProps, Validations } from 'aws-cdk-lib/core';
import { Trigger } from 'aws-cdk-lib/triggers';
import type { Construct } from 'constructs';
import { type Job, jobs, type QueueStart, queueStartOf, usesOfJob } from '../../functions/jobs/jobs.ts';
import { functionName } from '../build/function-files.ts';
import { ConcurrencyCap } from './concurrency-cap.ts';
import { gatewaysForJob } from './egress.ts';
import { EndpointFunction } from './endpoint-function.ts';
import type { FunctionDefaults } from './function-defaults.ts';
import { statementsFor, variablesFor } from './grants.ts';
import type { Stores } from './statements.ts';

interface JobsStackProps extends StackProps {
  readonly stores: Stores;
  readonly defaults: FunctionDefaults;
  /** Settings that every job shares. */
  readonly environment: Readonly<Record<string, string>>;
  /** What the job that a deployment runs knows besides: what was deployed. */
  readonly record: Readonly<Record<string, string>>;
  /** Names this deployment, so that the job runs in each, and not only if it changed. */
  readonly run: string;
}

/** Lambda's maximum timeout. */
const maxMinutes = 15;

/** Callers of an invoked function wait no longer than this. */
const invokedLimit = Duration.seconds(10);

/** A picture may take 10 s, and is fetched and put besides. */
const sizeLimit = Duration.seconds(25);

/** How long a run of a job may take. */
export const timeoutOf = ({ starts }: Job): Duration => {
  if (starts === 'on deployment') return Duration.minutes(1);
  if (starts === 'invoked') return invokedLimit;
  if (starts === 'by the origin of files') return sizeLimit;
  return Duration.minutes('everyMinutes' in starts ? Math.min(starts.everyMinutes, maxMinutes) : starts.minutes);
};

const queueOf = ({ queue }: QueueStart, { mailQueue, workQueue, webhookQueue }: Stores) =>
  ({ mail: mailQueue, work: workQueue, webhooks: webhookQueue })[queue];

/** Functions that a queue starts have reserved concurrency, so that mails go out however many requests there are. */
const reservedFor = (job: Job, { concurrency }: FunctionDefaults): number | undefined => {
  const start = queueStartOf(job);
  return start && concurrency.forQueue(start.concurrency);
};

/**
 * The functions that a deployment, another function, the clock or a queue starts. A scheduled run that fails is not
 * repeated: the next one carries on. One that fails on deployment fails the deployment, so everything that is served
 * depends on this stack.
 */
export class JobsStack extends Stack {
  /** Name → its function. */
  readonly functions = new Map<string, EndpointFunction>();

  constructor(scope: Construct, id: string, jobsProps: JobsStackProps) {
    const { stores, defaults, environment, record, run, ...props } = jobsProps;
    super(scope, id, props);
    new ConcurrencyCap(this, 'held-back', defaults);
    const fixedNames = new Map(Object.entries(stores.verifiers));
    for (const [name, job] of Object.entries<Job>(jobs)) {
      // It stands with the origin that calls it.
      if (job.starts === 'by the origin of files') continue;
      const fixedName = fixedNames.get(name)?.functionName;
      const uses = usesOfJob(job);
      const made = new EndpointFunction(this, name, {
        defaults,
        packaged: defaults.packages(functionName('jobs', name)),
        description: job.summary,
        statements: statementsFor(uses, stores),
        environment: {
          ...environment,
          ...variablesFor(uses, stores),
          ...(job.starts === 'on deployment' && record),
        },
        timeout: timeoutOf(job),
        ways: gatewaysForJob(name, job),
        reservedConcurrency: reservedFor(job, defaults),
        ...(fixedName !== undefined && { functionName: fixedName }),
      });
      this.functions.set(name, made);
      if (uses.includes('key-group')) {
        Validations.of(made).acknowledge({
          id: 'AwsSolutions-IAM5[Resource::*]',
          reason: 'CloudFront has no names of public keys and key groups that a permission could be confined to.',
        });
      }
      const { lambda } = made;
      if (job.starts === 'invoked') continue;
      if (job.starts === 'on deployment') this.#runOnDeployment(name, lambda, timeoutOf(job), run);
      else if ('everyMinutes' in job.starts) this.#runEvery(name, lambda, Duration.minutes(job.starts.everyMinutes));
      else this.#runForMessages(name, lambda, job.starts, stores);
    }
  }

  #runOnDeployment(name: string, handler: LambdaFunction, timeout: Duration, run: string): void {
    const { node } = new Trigger(this, `${name}-trigger`, { handler, timeout });
    // By itself it is called for a new version of the function alone.
    (node.findChild('Default').node.defaultChild as CfnResource).addPropertyOverride('Run', run);
  }

  #runEvery(name: string, lambda: LambdaFunction, interval: Duration): void {
    lambda.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: interval });
    new Rule(this, `${name}-schedule`, {
      schedule: Schedule.rate(interval),
      targets: [new FunctionTarget(lambda)],
    });
  }

  #runForMessages(name: string, target: LambdaFunction, start: QueueStart, stores: Stores): void {
    new EventSourceMapping(this, `${name}-messages`, {
      target,
      eventSourceArn: queueOf(start, stores).queueArn,
      batchSize: start.batchSize,
      reportBatchItemFailures: true,
      maxConcurrency: start.concurrency,
    });
  }
}
