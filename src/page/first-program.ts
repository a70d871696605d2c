/** The program that the page offers on a first visit. It reads 1 MB, and a few lines come back. */
export const firstProgram = `// Countries with the most revenue in the demo shop
const { orders } = await demo.list_orders({ limit: 2400 });
const revenue = {};
for (const { country, total_cents } of orders) {
  revenue[country] = (revenue[country] ?? 0) + total_cents / 100;
}
return Object.entries(revenue)
  .sort(([, one], [, other]) => other - one)
  .slice(0, 3)
  .map(([country, sum]) => \`\${country}: \${Math.round(sum)}\`);
`;
