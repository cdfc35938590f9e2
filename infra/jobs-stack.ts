import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as FunctionTarget } from 'aws-cdk-lib/aws-events-targets';
import { EventSourceMapping, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Duration, Stack, type StackProps } from 'aws-cdk-lib/core';
import { Trigger } from 'aws-cdk-lib/triggers';
import type { Construct } from 'constructs';
import { type Job, jobs, type QueueStart } from '../functions/jobs/jobs.ts';
import { EndpointFunction } from './endpoint-function.ts';
import { functionName } from './function-files.ts';
import { type Stores, statementsFor, variablesFor } from './grants.ts';
import type { Packages } from './packaged-function.ts';

export interface JobsStackProps extends StackProps {
  readonly stores: Stores;
  readonly packages: Packages;
  /** Settings that every job shares. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Runs of a queue's function at once; the mail provider takes few mails a second. */
const queueConcurrency = 2;

const timeoutOf = ({ starts }: Job): Duration =>
  Duration.minutes(typeof starts === 'object' && 'everyMinutes' in starts ? Math.min(starts.everyMinutes, 15) : 1);

/**
 * The functions that a deployment, the clock or a queue starts. A scheduled run that fails is not repeated: the next one carries on.
 * One that fails on deployment fails the deployment, so everything that is served depends on this stack.
 */
export class JobsStack extends Stack {
  constructor(scope: Construct, id: string, { stores, packages, environment, ...props }: JobsStackProps) {
    super(scope, id, props);
    for (const [name, job] of Object.entries<Job>(jobs)) {
      const { lambda } = new EndpointFunction(this, name, {
        packaged: packages(functionName('jobs', name)),
        description: job.summary,
        statements: statementsFor(job.uses, stores),
        environment: { ...environment, ...variablesFor(job.uses, stores) },
        timeout: timeoutOf(job),
      });
      if (job.starts === 'on deployment') this.#runOnDeployment(name, lambda, timeoutOf(job));
      else if ('everyMinutes' in job.starts) this.#runEvery(name, lambda, Duration.minutes(job.starts.everyMinutes));
      else this.#runForMessages(name, lambda, job.starts, stores);
    }
  }

  #runOnDeployment(name: string, handler: LambdaFunction, timeout: Duration): void {
    new Trigger(this, `${name}-trigger`, { handler, timeout });
  }

  #runEvery(name: string, lambda: LambdaFunction, interval: Duration): void {
    lambda.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: interval });
    new Rule(this, `${name}-schedule`, {
      schedule: Schedule.rate(interval),
      targets: [new FunctionTarget(lambda)],
    });
  }

  #runForMessages(name: string, target: LambdaFunction, { batchSize }: QueueStart, { mailQueue }: Stores): void {
    new EventSourceMapping(this, `${name}-messages`, {
      target,
      eventSourceArn: mailQueue.queueArn,
      batchSize,
      reportBatchItemFailures: true,
      maxConcurrency: queueConcurrency,
    });
  }
}
