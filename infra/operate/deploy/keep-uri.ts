import { DescribeSecretCommand, UpdateSecretVersionStageCommand } from '@aws-sdk/client-secrets-manager';
import { filledSecrets } from '../../stacks/secrets.ts';
import type { SecretArns } from './fill-secrets.ts';
import { loadSecret, secretsClient } from './secret-version.ts';

/** The label of the version that a deployment last succeeded with. */
const deployedStage = 'DEPLOYED';

/**
 * Labels the URI of MongoDB that a deployment has succeeded with. Secrets Manager keeps the version before the present
 * one by itself, and that one too for as long as it has a label, whatever is put in later.
 */
export const keepUri = async (arns: SecretArns, profile: string | undefined): Promise<void> => {
  const arn = arns[filledSecrets.mongodbSecret.output];
  if (arn === undefined) return;
  const { id, stages } = await loadSecret({ arn, profile });
  if (stages.includes(deployedStage)) return;
  const client = secretsClient({ arn, profile });
  const { VersionIdsToStages = {} } = await client.send(new DescribeSecretCommand({ SecretId: arn }));
  const [before] = Object.entries(VersionIdsToStages).find(([, labels]) => labels.includes(deployedStage)) ?? [];
  await client.send(
    new UpdateSecretVersionStageCommand({
      SecretId: arn,
      VersionStage: deployedStage,
      MoveToVersionId: id,
      RemoveFromVersionId: before,
    }),
  );
};
