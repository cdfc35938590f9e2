import { t } from '../text/words.ts';
import { LinkButton } from './button.tsx';
import { Empty } from './empty.tsx';
import { Page } from './page.tsx';

/** The page for an unknown address. */
export const Gone = () => (
  <Page title={t.gone.title}>
    <Empty text={t.gone.text}>
      <LinkButton href="/">{t.nav.projects}</LinkButton>
    </Empty>
  </Page>
);
