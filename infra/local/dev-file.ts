import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Demo, ProjectKeys } from './demo.ts';
import type { Stack } from './stack.ts';
import { loadState, writeState } from './state-file.ts';

/** Where the parts of the local service are. */
type Addresses = Pick<Stack, 'baseUrl' | 'dashboardUrl' | 'inboxUrl' | 'webhookUrl' | 'webhookSecret' | 'filesUrl'>;

/** What scripts and tests need to use the local service: `$BASALT_DIR/dev.json`. */
export interface DevFile extends Demo, Addresses {
  readonly dashboardToken: string;
  /** The project of the example app, once it was started. */
  readonly example?: ProjectKeys;
  /** Where the example app is, while it runs. */
  readonly exampleUrl?: string;
}

const fileIn = (directory: string): string => path.join(directory, 'dev.json');

/** What an earlier start wrote; `undefined` before the first one, or where the file is damaged. */
export const loadDevFile = (directory: string): Promise<DevFile | undefined> => loadState(fileIn(directory));

/** What blocks of the guides begin with: names of the file's contents, and answers that end with a line break. */
const shellOf = (directory: string, dev: DevFile): string => `dev() { node -p "require('${fileIn(directory)}').$1"; }
json() { node -p "JSON.parse(require('fs').readFileSync(0)).$1"; }
curl() { command curl -w '\\n' "$@"; }
API='${dev.baseUrl}' KEY='${dev.secretKey}' PK='${dev.publishableKey}' AUTH='${dev.baseUrl}/api/userAuth'
DASH='${dev.dashboardUrl}' PROJECT='${dev.dashboardUrl}/api/projects/${dev.projectId}'
BEARER='authorization: Bearer ${dev.dashboardToken}'
# The newest mail to an address, once there is one; then the code in it.
mail_to() {
  for SECOND in 1 2 3 4 5 6 7 8 9 10; do
    MAIL=$(curl -s '${dev.inboxUrl.replace(/\/inbox$/, '')}/emails' | json "data.findLast((mail) => mail.to.includes('$1'))?.text ?? ''")
    [ -n "$MAIL" ] && break
    sleep 1
  done
  echo "$MAIL"
}
code_to() { mail_to "$1" | grep -oE ': [A-Z2-9]{4}-[A-Z2-9]{4}$' | grep -oE '[A-Z2-9]{4}-[A-Z2-9]{4}' | head -1; }
`;

/** Writes `dev.json`, and `env.sh` for shells; only their owner can read them. */
export const writeDevFile = async (directory: string, content: DevFile): Promise<void> => {
  await writeState(fileIn(directory), content);
  await writeFile(path.join(directory, 'env.sh'), shellOf(directory, content), { mode: 0o600 });
};
