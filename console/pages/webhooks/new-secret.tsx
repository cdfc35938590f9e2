import { t } from '../../text/words.ts';
import { OnceDialog } from '../../ui/dialog.tsx';
import { Snippet } from '../../ui/snippet.tsx';

export const NewSecret = ({
  title,
  secret,
  onKept,
}: {
  readonly title: string;
  readonly secret: string;
  readonly onKept: () => void;
}) => (
  <OnceDialog title={title} kept={t.webhooks.kept} onKept={onKept}>
    <p>{t.webhooks.secretWhy}</p>
    <Snippet code={secret} label={t.webhooks.secret} />
  </OnceDialog>
);
