import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as FunctionTarget } from 'aws-cdk-lib/aws-events-targets';
import { EventSourceMapping, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { type CfnResource, Duration, Stack, type StackProps } from 'aws-cdk-lib/core';
import { Trigger } from 'aws-cdk-lib/triggers';
import type { Construct } from 'constructs';
import { type Job, jobs, type QueueStart, servesRequests } from '../../functions/jobs/jobs.ts';
import { ConcurrencyCap } from './concurrency-cap.ts';
import type { EndpointFunction } from './endpoint-function.ts';
import type { FunctionDefaults } from './function-defaults.ts';
import { type JobName, jobFunction, timeoutOf } from './job-function.ts';
import type { Stores } from './statements.ts';

interface JobsStackProps extends StackProps {
  readonly stores: Stores;
  readonly defaults: FunctionDefaults;
  /** Defaults of all jobs. */
  readonly environment: Readonly<Record<string, string>>;
  /** Additional variables of the deployment job: the deployed settings. */
  readonly record: Readonly<Record<string, string>>;
  /** Different in each deployment, so that the job always runs. */
  readonly run: string;
}

const queueOf = ({ queue }: QueueStart, { mailQueue, workQueue, webhookQueue }: Stores) =>
  ({ mail: mailQueue, work: workQueue, webhooks: webhookQueue })[queue];

/**
 * Functions that a deployment, another function, a schedule or a queue starts. A failed scheduled run is not retried;
 * the next one continues. A failed deployment job fails the deployment, so all other stacks depend on this one.
 */
export class JobsStack extends Stack {
  readonly functions = new Map<string, EndpointFunction>();

  constructor(scope: Construct, id: string, jobsProps: JobsStackProps) {
    const { stores, defaults, environment, record, run, ...props } = jobsProps;
    super(scope, id, props);
    new ConcurrencyCap(this, 'held-back', defaults);
    for (const name of Object.keys(jobs) as JobName[]) {
      const job: Job = jobs[name];
      if (servesRequests(job.starts)) continue;
      const told = { ...environment, ...(job.starts === 'on deployment' && record) };
      const made = jobFunction(this, name, { stores, defaults, environment: told });
      this.functions.set(name, made);
      const { lambda } = made;
      if (job.starts === 'invoked') continue;
      if (job.starts === 'on deployment') this.#runOnDeployment(name, lambda, timeoutOf(job), run);
      else if ('everyMinutes' in job.starts) this.#runEvery(name, lambda, Duration.minutes(job.starts.everyMinutes));
      else this.#runForMessages(name, lambda, job.starts, { stores, defaults });
    }
  }

  #runOnDeployment(name: string, handler: LambdaFunction, timeout: Duration, run: string): void {
    const { node } = new Trigger(this, `${name}-trigger`, { handler, timeout });
    // Otherwise, the trigger only runs for new versions of the function.
    (node.findChild('Default').node.defaultChild as CfnResource).addPropertyOverride('Run', run);
  }

  #runEvery(name: string, lambda: LambdaFunction, interval: Duration): void {
    lambda.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: interval });
    new Rule(this, `${name}-schedule`, {
      schedule: Schedule.rate(interval),
      targets: [new FunctionTarget(lambda)],
    });
  }

  #runForMessages(
    name: string,
    target: LambdaFunction,
    start: QueueStart,
    { stores, defaults }: Pick<JobsStackProps, 'stores' | 'defaults'>,
  ): void {
    new EventSourceMapping(this, `${name}-messages`, {
      target,
      eventSourceArn: queueOf(start, stores).queueArn,
      batchSize: start.batchSize,
      reportBatchItemFailures: true,
      maxConcurrency: defaults.concurrency.fromQueue(start.concurrency),
    });
  }
}
