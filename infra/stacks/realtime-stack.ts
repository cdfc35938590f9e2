import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppSyncAuthorizationType, Code, EventApi } from 'aws-cdk-lib/aws-appsync';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { channelNamespace, roomNamespace } from '../../shared/realtime/channels.ts';
import type { Stores } from './statements.ts';

interface RealtimeStackProps extends StackProps {
  /** The authorizer. */
  readonly authorizer: LambdaFunction;
}

/**
 * The Event API for live updates and presence. A function authorizes clients by their token. They may publish in rooms
 * only; on other channels only functions that write documents may, by their roles.
 */
export class RealtimeStack extends Stack {
  readonly nudges: NonNullable<Stores['nudges']>;
  readonly url: string;

  constructor(scope: Construct, id: string, { authorizer, ...props }: RealtimeStackProps) {
    super(scope, id, props);
    // By ARN, so that the permission is created here; the function's own stack does not know this one.
    const handler = LambdaFunction.fromFunctionAttributes(this, 'Authorizer', {
      functionArn: authorizer.functionArn,
      sameEnvironment: true,
    });
    const { LAMBDA, IAM } = AppSyncAuthorizationType;
    const api = new EventApi(this, 'Events', {
      apiName: id,
      authorizationConfig: {
        authProviders: [
          {
            authorizationType: LAMBDA,
            // A decision for one channel must not be cached for another.
            lambdaAuthorizerConfig: { handler, resultsCacheTtl: Duration.seconds(0) },
          },
          { authorizationType: IAM },
        ],
        connectionAuthModeTypes: [LAMBDA],
        defaultSubscribeAuthModeTypes: [LAMBDA],
        defaultPublishAuthModeTypes: [IAM],
      },
    });
    api.addChannelNamespace(channelNamespace);
    api.addChannelNamespace(roomNamespace, {
      // The handler checks events and adds the user's id, which the authorizer gives it.
      code: Code.fromInline(readFileSync(join(import.meta.dirname, 'room-handler.js'), 'utf8')),
      authorizationConfig: { publishAuthModeTypes: [LAMBDA], subscribeAuthModeTypes: [LAMBDA] },
    });
    this.nudges = {
      namespaceArn: `${api.apiArn}/channelNamespace/${channelNamespace}`,
      url: `https://${api.httpDns}/event`,
    };
    this.url = `wss://${api.realtimeDns}/event/realtime`;
    // Live updates can be turned off and on, because exports that others may import stay.
    for (const value of [api.apiArn, api.httpDns, api.realtimeDns]) this.exportValue(value);
    new CfnOutput(this, 'RealtimeUrl', { value: this.url });
  }
}
