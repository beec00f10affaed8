import { defineConfig } from 'vitepress'

// The pages are those of docs/, as they stand; what they link to outside of it is shown in the repository.
const repository = 'https://github.com/backfill/backfill/blob/main/'

export default defineConfig({
  srcDir: 'pages', // a copy that `npm run pages` makes: the generator resolves its parts from where a page lies
  outDir: './dist',
  title: 'Backfill',
  description: 'Durable data backfills for PostgreSQL, embedded in your JVM service',
  cleanUrls: false,
  lastUpdated: false,
  // A dead link within the pages fails the build; those that leave docs/ are checked by DocumentsTest.
  ignoreDeadLinks: [/^(\.\/)?\.\.\//, /\.(json|yml|yaml)$/, /^\.?\/?(decisions|grafana|prometheus|kubernetes)\/?$/],
  markdown: {
    config(md) {
      md.core.ruler.push('outside-links', (state) => {
        for (const block of state.tokens) {
          for (const token of block.children ?? []) {
            const href = token.type === 'link_open' ? token.attrGet('href') : null
            if (href && /^(\.\/)?\.\.\//.test(href) && !state.env.relativePath?.includes('/')) {
              token.attrSet('href', repository + href.replace(/^(\.\/)?(\.\.\/)+/, ''))
            }
          }
        }
      })
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Start', link: '/first-backfill' },
      { text: 'Operate', link: '/operate' },
      { text: 'Contract', link: '/contract' },
    ],
    sidebar: [
      {
        text: 'Start',
        items: [
          { text: 'What it is', link: '/' },
          { text: 'Your first backfill', link: '/first-backfill' },
          { text: 'Write a definition', link: '/write-a-definition' },
          { text: 'Embed it in a service', link: '/embed' },
          { text: 'Spring Boot', link: '/spring-boot' },
          { text: 'Test it', link: '/testkit' },
        ],
      },
      {
        text: 'Operate',
        items: [
          { text: 'Operate it', link: '/operate' },
          { text: 'The console', link: '/operate-console' },
          { text: 'API and command line', link: '/operator-api' },
          { text: 'Evolve a schema', link: '/evolve-schema' },
        ],
      },
      {
        text: 'Understand',
        items: [
          { text: 'Life of a backfill', link: '/lifecycle' },
          { text: 'The contract', link: '/contract' },
          { text: 'How it is proven', link: '/conformance' },
          { text: 'Chaos report', link: '/chaos-report' },
          { text: 'What safety costs', link: '/performance' },
          { text: 'Supported versions', link: '/support' },
        ],
      },
    ],
  },
})
