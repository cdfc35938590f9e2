import { AttributeType, Billing, Capacity, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { CfnOutput, RemovalPolicy, Stack, type StackProps, Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { type FilledSecret, filledSecrets } from './secrets.ts';
import type { Stores } from './statements.ts';

type Secrets = Pick<Stores, FilledSecret | 'encryptionSecret'>;

/** Scales provisioned units within these bounds to a utilization of 70 %. */
const scaled = (minCapacity: number, maxCapacity: number): Capacity =>
  Capacity.autoscaled({ minCapacity: Math.ceil(minCapacity), maxCapacity, targetUtilizationPercent: 70 });

/** Scaling takes minutes, so a quarter of the maximum is always provisioned. There are few reads compared to writes. */
const billingOf = (writesPerSecond: number): Billing =>
  writesPerSecond === 0
    ? Billing.onDemand()
    : Billing.provisioned({
        writeCapacity: scaled(writesPerSecond / 4, writesPerSecond),
        readCapacity: scaled(writesPerSecond / 20, writesPerSecond),
      });

interface DataProps extends StackProps {
  /** Maximum writes per second; 0 pays per request. */
  readonly tableWritesPerSecond: number;
}

/** Everything that outlives a deployment: the table, the operator's secrets and the master key. */
export class DataStack extends Stack {
  readonly table: TableV2;
  readonly stores: Secrets & Pick<Stores, 'table'>;

  constructor(scope: Construct, id: string, { tableWritesPerSecond, ...props }: DataProps) {
    super(scope, id, { ...props, terminationProtection: true });
    this.table = new TableV2(this, 'Table', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      billing: billingOf(tableWritesPerSecond),
      timeToLiveAttribute: 'expiresAt',
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    const filled = Object.fromEntries(
      Object.entries(filledSecrets).map(([name, secret]) => [name, this.#toBeFilled(secret)]),
    ) as Record<FilledSecret, Secret>;
    this.stores = { ...filled, table: this.table, encryptionSecret: this.#masterKey() };
    // Outputs stay until a release without any importing function is deployed.
    for (const { secretArn } of [...Object.values(filled), this.stores.encryptionSecret]) this.exportValue(secretArn);
    for (const value of [this.table.tableArn, this.table.tableName]) this.exportValue(value);
  }

  #toBeFilled({ id, output, description, reason }: (typeof filledSecrets)[FilledSecret]): Secret {
    const secret = new Secret(this, id, { description, removalPolicy: RemovalPolicy.RETAIN });
    Validations.of(secret).acknowledge({ id: 'AwsSolutions-SMG4', reason });
    new CfnOutput(this, output, { value: secret.secretArn });
    return secret;
  }

  /** 43 characters of base64 are 32 bytes. Letters and digits alone still have more than 250 bits. */
  #masterKey(): Secret {
    const key = new Secret(this, 'EncryptionKey', {
      description: 'Master key of everything that is stored encrypted. Without it that is lost.',
      generateSecretString: { passwordLength: 43, excludePunctuation: true },
      removalPolicy: RemovalPolicy.RETAIN,
    });
    Validations.of(key).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: 'A new master key would make everything encrypted with the old one unreadable.',
    });
    return key;
  }
}
