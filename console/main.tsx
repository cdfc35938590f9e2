import { render } from 'preact';
import { LocationProvider } from 'preact-iso/router';
import { Problem } from './api/problem.ts';
import { loadService } from './api/service.ts';
import { applyTheme } from './api/theme.ts';
import { Pages } from './pages.tsx';
import { OfflineLine } from './ui/offline-line.tsx';
import { problemText } from './ui/problem-text.ts';
import { say, Toasts } from './ui/toast.tsx';
import { guardHistory } from './ui/unsaved.tsx';

// Shows errors that no form or action has caught.
addEventListener('unhandledrejection', (event) => {
  if (!(event.reason instanceof Problem)) return;
  event.preventDefault();
  say(problemText(event.reason));
});

applyTheme();
guardHistory();

const root = document.getElementById('console');
if (root) {
  render(<OfflineLine />, root);
  await loadService();
  render(
    <LocationProvider>
      <OfflineLine />
      <Pages />
      <Toasts />
    </LocationProvider>,
    root,
  );
}
